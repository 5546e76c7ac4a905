"""What must hold on the wire: the catalogue of requirements and a case for each."""

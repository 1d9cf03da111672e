"""Files of inertial suits."""
